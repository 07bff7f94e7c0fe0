// Sets the language of the page's document, for hyphenation, fonts and screen readers.
/** @param {import("./shared.js").Component<{ language: string }>} component */
export default function ({ data }) {
  document.documentElement.lang = data.language;
}
