// Sets the language of the page's document, for hyphenation, fonts and screen readers.
export default function ({ data }) {
  document.documentElement.lang = data.language;
}
