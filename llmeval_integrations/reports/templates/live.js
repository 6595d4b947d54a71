/* Asks the server for new results. They are shown at once. While somebody reads or types, the bar offers them instead. */
setInterval(async () => {
  try {
    const version = await (await fetch("version")).text();
    if (version === document.body.dataset.version) return;
    const isBusy = document.activeElement !== document.body || scrollY > 0 || document.querySelector("details[open], .detail");
    if (isBusy) $("news").hidden = false; else location.reload();
  } catch { /* the server has ended; the page stays */ }
}, 2000);
$("news").addEventListener("click", () => location.reload());
