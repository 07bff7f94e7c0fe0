// Names that are neither declared, imported nor of the browser, and imports and names that nothing uses.
import globals from "globals";

export default [
  {
    files: ["pages/components/**/*.js"],
    languageOptions: { globals: globals.browser },
    rules: { "no-undef": "error", "no-unused-vars": ["error", { args: "none", caughtErrors: "none" }] },
  },
];
