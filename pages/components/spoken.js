// Sets the language of the page's document, for hyphenation, fonts and screen readers.
// It also gives page.css translations of words that Streamlit has in English only.
/** @param {import("./shared.js").Component<{ language: string, words: Record<string, string> }>} component */
export default function ({ data }) {
  const { lang, style } = document.documentElement;
  if (lang !== data.language) document.documentElement.lang = data.language;
  for (const [name, text] of Object.entries(data.words)) style.setProperty(`--word-${name}`, JSON.stringify(text));
}
