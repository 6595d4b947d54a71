/* Asks the server for news. They are shown at once, unless somebody reads or types: then the bar offers them. */
setInterval(async () => {
  try {
    const version = await (await fetch("version")).text();
    if (version === document.body.dataset.version) return;
    const isBusy = document.activeElement !== document.body || scrollY > 0 || document.querySelector("details[open], .detail");
    if (isBusy) $("news").hidden = false; else location.reload();
  } catch { /* the server has ended; what is shown stays */ }
}, 2000);
$("news").addEventListener("click", () => location.reload());
