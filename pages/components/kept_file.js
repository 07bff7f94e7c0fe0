// Stores the uploaded files of the screen in this browser tab, so that they survive a reload.
// Another visitor never gets them: sessionStorage belongs to one tab, and the server sends them to their own tab only.

const FILE = "attention-file";

/**
 * @typedef {object} KeptFile
 * @property {string} digest of the files of the screen; "" without files
 * @property {string} text the files; "" if they are not to be stored
 * @property {string} awaits the digest of the files that the server lacks; "" for none
 */

let told = ""; // digest of the files for which this tab has answered the server; "" if the server awaits no files

/** The text of the stored files with this digest; null if there is none. @type {(digest: string) => string | null} */
function readFiles(digest) {
  try {
    const stored = sessionStorage.getItem(FILE) ?? "";
    return stored.startsWith(`${digest}\n`) ? stored.slice(digest.length + 1) : null;
  } catch {
    return null;
  }
}

/** @param {import("./shared.js").Component<KeptFile>} component */
export default function ({ data, setTriggerValue }) {
  const isAnswered = told === data.awaits;
  told = data.awaits; // this tab has answered the server process; another process asks again
  if (data.awaits && !isAnswered) setTriggerValue("read", readFiles(data.awaits));
  if (!data.text) return;
  try {
    sessionStorage.setItem(FILE, `${data.digest}\n${data.text}`);
  } catch {
    setTriggerValue("refused", true);
  }
}
