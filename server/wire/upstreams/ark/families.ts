/**
 * The rules of each generation of the vendor's video models, as data
 * (docs/protocols/ark.md#video-request-fields and the sections after it).
 */
import type { VideoRules } from '../../dialects/video/content.ts'

export interface Family extends VideoRules {
  readonly name: string
  readonly matches: RegExp
  /** Request fields that this generation takes; others are left out. */
  readonly fields: readonly string[]
  /** Width times height of the largest picture by resolution and ratio; 9:16 is 16:9 turned. */
  readonly pixels: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** Most seconds of input video that are billed. */
  readonly inputSeconds: number
}

const FIELDS_1 = ['seed', 'camera_fixed', 'service_tier', 'frames']
const SIZES_1_0 = {
  '480p': { '16:9': 864 * 480, '4:3': 736 * 544, '1:1': 640 * 640, '21:9': 960 * 416 },
  '720p': { '16:9': 1248 * 704, '4:3': 1120 * 832, '1:1': 960 * 960, '21:9': 1504 * 640 },
  '1080p': { '16:9': 1920 * 1088, '4:3': 1664 * 1248, '1:1': 1440 * 1440, '21:9': 2176 * 928 },
}
const SIZES_2_0 = {
  '480p': { '16:9': 864 * 496, '4:3': 752 * 560, '1:1': 640 * 640, '21:9': 992 * 432 },
  '720p': { '16:9': 1280 * 720, '4:3': 1112 * 834, '1:1': 960 * 960, '21:9': 1470 * 630 },
  '1080p': { '16:9': 1920 * 1080, '4:3': 1664 * 1248, '1:1': 1440 * 1440, '21:9': 2206 * 946 },
  '4k': { '16:9': 3840 * 2160, '4:3': 3326 * 2494, '1:1': 2880 * 2880, '21:9': 4398 * 1886 },
}
const SIZES_2_5 = { ...SIZES_2_0, '480p': { ...SIZES_2_0['480p'], '16:9': 854 * 480 } }

const BASE = {
  resolution: '720p',
  resolutions: ['480p', '720p', '1080p'],
  text: true,
  frames: 2,
  referenceImages: 0,
  referenceVideos: 0,
  referenceAudios: 0,
  audioAlone: false,
  choosesDuration: false,
  flex: true,
  handles: ['asset'],
  inputSeconds: 0,
} as const

const ONE = { ...BASE, seconds: { min: 2, max: 12 }, fields: FIELDS_1, pixels: SIZES_1_0 } as const
const TWO = {
  ...BASE,
  seconds: { min: 4, max: 15 },
  choosesDuration: true,
  referenceImages: 9,
  referenceVideos: 3,
  referenceAudios: 3,
  flex: false,
  fields: ['generate_audio', 'priority', 'tools'],
  pixels: SIZES_2_0,
  inputSeconds: 15,
} as const

/** The first that matches the upstream's model id; names of other sites drop the prefix. */
const FAMILIES: readonly Family[] = [
  { ...ONE, name: '1.0 lite t2v', matches: /seedance-1-0-lite-t2v/, frames: 0 },
  {
    ...ONE,
    name: '1.0 lite i2v',
    matches: /seedance-1-0-lite-i2v/,
    text: false,
    referenceImages: 4,
  },
  { ...ONE, name: '1.0 pro fast', matches: /seedance-1-0-pro-fast/, frames: 1 },
  { ...ONE, name: '1.0 pro', matches: /seedance-1-0/ },
  {
    ...ONE,
    name: '1.5 pro',
    matches: /seedance-1-5/,
    seconds: { min: 4, max: 12 },
    choosesDuration: true,
    fields: ['seed', 'camera_fixed', 'service_tier', 'generate_audio', 'draft'],
    drafts: true,
    pixels: SIZES_2_0,
  },
  {
    ...TWO,
    name: '2.0 fast and mini',
    matches: /seedance-2-0-(?:fast|mini)/,
    resolutions: ['480p', '720p'],
  },
  {
    ...TWO,
    name: '2.0',
    matches: /seedance-2-0/,
    resolutions: ['480p', '720p', '1080p', '4k'],
  },
  {
    ...TWO,
    name: '2.5',
    matches: /seedance-2-5/,
    seconds: { min: 4, max: 30 },
    referenceImages: 30,
    referenceVideos: 10,
    referenceAudios: 10,
    media: 50,
    audioAlone: true,
    adaptiveWithFrame: true,
    fields: ['generate_audio', 'priority', 'tools', 'omni_reference_task_type', 'output_format'],
    pixels: SIZES_2_5,
    inputSeconds: 30,
  },
]

/** The widest rules, for endpoint ids and for models that are newer than this list. */
const UNKNOWN: Family = {
  ...TWO,
  name: 'unknown',
  matches: /^/,
  seconds: { min: 2, max: 30 },
  resolutions: ['480p', '720p', '1080p', '4k'],
  referenceImages: 30,
  referenceVideos: 10,
  referenceAudios: 10,
  audioAlone: true,
  flex: true,
  drafts: true,
  fields: [...FIELDS_1, 'generate_audio', 'priority', 'tools', 'draft'],
  inputSeconds: 30,
}

export function familyOf(upstreamModel: string): Family {
  return FAMILIES.find(({ matches }) => matches.test(upstreamModel)) ?? UNKNOWN
}
