/** Raised whenever the guest does something else with the same workspace. Goes into manifest.json. */
export const GUEST_VERSION = "1";
