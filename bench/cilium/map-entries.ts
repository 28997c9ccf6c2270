/** Seven entries for each Service with five endpoints; the default would do for 9,000 Services. */
export const MAP_ENTRIES = 524_288;
