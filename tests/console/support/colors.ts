/** Measures colours: contrast, distance, and how people without red or green cones see them. */

type Rgb = readonly [red: number, green: number, blue: number]

/** `#2b86a5` → linear light from 0 to 1. */
function toLinear(hex: string): Rgb {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return [red, green, blue]
}

type Matrix = readonly [Rgb, Rgb, Rgb]

function multiply(matrix: Matrix, [red, green, blue]: Rgb): Rgb {
  const row = ([a, b, c]: Rgb) => Math.min(1, Math.max(0, a * red + b * green + c * blue))
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])]
}

/** Machado, Oliveira and Fernandes (2009), severity 1, for linear light. */
const DEFICIENCIES = {
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
} as const satisfies Readonly<Record<string, Matrix>>

export const VISIONS = ['full', 'protanopia', 'deuteranopia'] as const
type Vision = (typeof VISIONS)[number]

function seenWith(vision: Vision, color: Rgb): Rgb {
  return vision === 'full' ? color : multiply(DEFICIENCIES[vision], color)
}

/** Returns a colour's place in Oklab, in which distances are about as they are seen. */
function toOklab([red, green, blue]: Rgb): Rgb {
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
  return [
    0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
  ]
}

export function distance(one: string, other: string, vision: Vision): number {
  const [a, b] = [one, other].map((hex) => toOklab(seenWith(vision, toLinear(hex))))
  return Math.hypot(...(a ?? []).map((value, index) => value - (b?.[index] ?? 0)))
}

/** Returns the contrast of WCAG, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [a = 0, b = 0] = [one, other].map((hex) => {
    const [red, green, blue] = toLinear(hex)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  })
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}
