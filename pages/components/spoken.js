// The whole page speaks its language, for hyphenation, fonts and screen readers.
export default function ({ data }) {
  document.documentElement.lang = data.language;
}
