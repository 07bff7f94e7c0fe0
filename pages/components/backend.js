// Names the address of the app's server.

/** The address under which the app's own routes stand, without a slash at its end. */
export const backendAddress = () => (globalThis["__streamlit"]?.BACKEND_BASE_URL ?? location.origin).replace(/\/$/, "");
