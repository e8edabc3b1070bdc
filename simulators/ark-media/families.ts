// The capabilities of each generation of Seedance. Source: the model table of the vendor's video
// guide (82379/1520757), sizes as measured.

export interface Family {
  generation: '1.0' | '1.5' | '2.0' | '2.5'
  seconds: readonly [number, number]
  /** True if -1 lets the model choose; it chooses `defaultSeconds`. */
  choosesSeconds: boolean
  defaultSeconds: number
  resolutions: readonly string[]
  defaultResolution: string
  text: boolean
  image: boolean
  lastFrame: boolean
  /**
   * The most images, videos and audios that may be referenced; for the newest generation together.
   */
  references: { images: number; videos: number; audios: number; audioAlone: boolean } | undefined
}

const BASE = {
  choosesSeconds: true,
  defaultSeconds: 5,
  defaultResolution: '720p',
  text: true,
  image: true,
  lastFrame: true,
  references: undefined,
} as const

const UP_TO_1080 = ['480p', '720p', '1080p']
const ONE = {
  ...BASE,
  generation: '1.0',
  seconds: [2, 12],
  choosesSeconds: false,
  resolutions: UP_TO_1080,
} as const

const OMNI = { images: 9, videos: 3, audios: 3, audioAlone: false }
const TWO = { ...BASE, generation: '2.0', seconds: [4, 15], references: OMNI } as const

/** Finds a family by the id without vendor and date; the first match wins. */
const FAMILIES: readonly [RegExp, Family][] = [
  [/seedance-1-0-pro-fast-/, { ...ONE, lastFrame: false, defaultResolution: '1080p' }],
  [/seedance-1-0-pro-/, { ...ONE, defaultResolution: '1080p' }],
  [/seedance-1-0-lite-t2v-/, { ...ONE, image: false, lastFrame: false }],
  [
    /seedance-1-0-lite-i2v-/,
    { ...ONE, text: false, references: { images: 4, videos: 0, audios: 0, audioAlone: false } },
  ],
  [/seedance-1-5-pro-/, { ...BASE, generation: '1.5', seconds: [4, 12], resolutions: UP_TO_1080 }],
  [/seedance-2-0-(fast|mini)-/, { ...TWO, resolutions: ['480p', '720p'] }],
  [/seedance-2-0-/, { ...TWO, resolutions: [...UP_TO_1080, '4k'] }],
  [
    /seedance-2-5-/,
    {
      ...BASE,
      generation: '2.5',
      seconds: [4, 30],
      defaultSeconds: -1,
      resolutions: UP_TO_1080,
      references: { images: 30, videos: 10, audios: 10, audioAlone: true },
    },
  ],
]

/** Endpoints `ep-…` and invented models `sim-…` behave as generation 2.0. */
export function familyOf(model: string): Family | undefined {
  if (/^(ep|sim)-/.test(model)) return { ...TWO, resolutions: [...UP_TO_1080, '4k'] }
  if (!/^(doubao-|dreamina-)?seedance-/.test(model)) return undefined
  return FAMILIES.find(([pattern]) => pattern.test(model))?.[1]
}

export const RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16', 'adaptive']

type Size = readonly [number, number]
type Sizes = Record<string, Size>

const OLD: Record<string, Sizes> = {
  '480p': { '16:9': [864, 480], '4:3': [736, 544], '1:1': [640, 640], '21:9': [960, 416] },
  '720p': { '16:9': [1248, 704], '4:3': [1120, 832], '1:1': [960, 960], '21:9': [1504, 640] },
  '1080p': { '16:9': [1920, 1088], '4:3': [1664, 1248], '1:1': [1440, 1440], '21:9': [2176, 928] },
}
const NEW: Record<string, Sizes> = {
  '480p': { '16:9': [864, 496], '4:3': [752, 560], '1:1': [640, 640], '21:9': [992, 432] },
  '720p': { '16:9': [1280, 720], '4:3': [1112, 834], '1:1': [960, 960], '21:9': [1470, 630] },
  '1080p': { '16:9': [1920, 1080], '4:3': [1664, 1248], '1:1': [1440, 1440], '21:9': [2206, 946] },
  '4k': { '16:9': [3840, 2160], '4:3': [3326, 2494], '1:1': [2880, 2880], '21:9': [4398, 1886] },
}

const TURNED: Record<string, string> = { '9:16': '16:9', '3:4': '4:3' }

/** Returns width and height in pixels of a concrete ratio. */
export function sizeOf(generation: Family['generation'], resolution: string, ratio: string): Size {
  const upright = TURNED[ratio]
  if (upright !== undefined) {
    const [width, height] = sizeOf(generation, resolution, upright)
    return [height, width]
  }
  if (generation === '2.5' && resolution === '480p' && ratio === '16:9') return [854, 480]
  const table = generation === '1.0' ? OLD : NEW
  return table[resolution]?.[ratio] ?? [1280, 720]
}
