/* Asks the server for news, and takes over figures and samples without interrupting whoever reads or types. */
function renew(old, fresh) {
  if (old.nodeName !== fresh.nodeName) { old.replaceWith(fresh); return; }
  if (old.nodeName === "#text") { if (old.data !== fresh.data) old.data = fresh.data; return; }
  for (const {name, value} of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const {name} of [...old.attributes]) if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
  const children = [...fresh.childNodes];
  while (old.childNodes.length > children.length) old.lastChild.remove();
  children.forEach((each, at) => at < old.childNodes.length ? renew(old.childNodes[at], each) : old.append(each));
}
let known = "";
setInterval(async () => {
  try {
    const version = await (await fetch("version")).text();
    if (version === known) return;
    const fresh = new DOMParser().parseFromString(await (await fetch("/")).text(), "text/html");
    renew($("overview"), fresh.getElementById("overview"));
    load(fresh.getElementById("data").textContent); controls(); filter(); show();
    known = version;
  } catch { /* the server has ended; what is shown stays */ }
}, 2000);
