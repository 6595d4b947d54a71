/* Asks the server for news, and takes over figures and samples without losing the filter. */
let known = "";
setInterval(async () => {
  try {
    const version = await (await fetch("version")).text();
    if (version === known) return;
    if (known) {
      const fresh = new DOMParser().parseFromString(await (await fetch("/")).text(), "text/html");
      $("overview").replaceWith(document.adoptNode(fresh.getElementById("overview")));
      load(fresh.getElementById("data").textContent);
    }
    known = version;
  } catch { /* the server has ended; what is shown stays */ }
}, 2000);
