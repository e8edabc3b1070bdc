/** The colours of charts: each pair can be told apart, also without red or green cones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PALETTE } from '../../../console/src/components/charts/palette.ts'
import { contrast, distance, VISIONS } from '../support/colors.ts'

/** The surface of a panel: `--surface` of styles.css. */
const SURFACES = { light: '#ffffff', dark: '#15191e' } as const
/** Of Oklab. Two neighbouring oranges of the former palette were 0.08 apart. */
const DISTANCE_MIN = { full: 0.15, protanopia: 0.1, deuteranopia: 0.1 } as const
/** WCAG 2.2, 1.4.11: graphics. */
const CONTRAST_MIN = 3

test('the measures are those that are published', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21)
  assert.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48')
  assert.equal(distance('#000000', '#ffffff', 'full').toFixed(3), '1.000')
  // Red and green of one lightness differ for most people, and hardly for some.
  const [red, green] = ['#c4605f', '#6f8a37']
  assert.ok(distance(red, green, 'full') > 3 * distance(red, green, 'deuteranopia'))
})

for (const scheme of ['light', 'dark'] as const) {
  test(`${scheme}: eight colours that are told apart, and from the panel`, () => {
    const colors: readonly string[] = PALETTE[scheme]
    assert.equal(new Set(colors).size, 8)
    const close = colors.flatMap((one, index) =>
      colors
        .slice(index + 1)
        .flatMap((other) =>
          VISIONS.filter((vision) => distance(one, other, vision) < DISTANCE_MIN[vision]).map(
            (vision) => `${one} and ${other}, ${vision}`,
          ),
        ),
    )
    assert.deepEqual(close, [])
    const faint = colors.filter((color) => contrast(color, SURFACES[scheme]) < CONTRAST_MIN)
    assert.deepEqual(faint, [])
  })
}
