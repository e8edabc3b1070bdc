/**
 * The colours of a chart's series, in their order, for each colour scheme. Checked by
 * tests/console/components/palette.test.ts, which computes the distance of each pair in Oklab, as
 * seen with full colour vision and with simulated protanopia and deuteranopia, and the contrast to
 * the panel. They were found by a search for the eight colours farthest apart under these three.
 */
export const PALETTE = {
  light: [
    ...(['#2b86a5', '#690a5a', '#04299e', '#c272ef'] as const),
    ...(['#879947', '#a4515d', '#084b0f', '#6e53d4'] as const),
  ],
  dark: [
    ...(['#469dba', '#f5f031', '#dca55e', '#dcaff8'] as const),
    ...(['#875870', '#578c19', '#b1f7f4', '#2d5ed4'] as const),
  ],
} as const

/** The colour of all others, and of calls that were cancelled. */
export const OTHER_COLOR = 'var(--mantine-color-gray-5)'
export const FAILED_COLOR = 'var(--mantine-color-red-6)'

/** Returns the colour of a series; a ninth is one of the others. */
export function seriesColor(index: number): string {
  return index < PALETTE.light.length ? `var(--series-${index + 1})` : OTHER_COLOR
}

/** Returns the custom properties of one scheme. */
export function paletteVariables(scheme: keyof typeof PALETTE): Readonly<Record<string, string>> {
  return Object.fromEntries(PALETTE[scheme].map((color, index) => [`--series-${index + 1}`, color]))
}
