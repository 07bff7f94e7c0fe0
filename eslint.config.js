// Unknown names (neither declared, imported nor of the browser), unused imports and names, lines over 120 columns.
import globals from "globals";

export default [
  {
    files: ["pages/components/**/*.js"],
    languageOptions: { globals: globals.browser },
    rules: {
      "max-len": ["error", 120],
      "no-undef": "error",
      "no-unused-vars": ["error", { args: "none", caughtErrors: "none" }],
    },
  },
];
