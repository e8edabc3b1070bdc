/** Reads the configuration that containers hold of AAC. */
import { type BitReader, createBitReader } from './bits.ts'

export const AAC_RATES: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
  7350,
]
const OWN_RATE = 15
const MORE_TYPES = 31
/** Spectral band replication, alone and with stereo: the core has the rate and the frames. */
const EXTENDED: ReadonlySet<number> = new Set([5, 29])
/** Low delay, whose frames are half as long. */
const SHORT: ReadonlySet<number> = new Set([23, 39])
const SAMPLES = 1024
const SAMPLES_OTHER = 960

export interface AacConfig {
  readonly rate: number
  /** Samples of each packet. */
  readonly samples: number
}

/** Returns undefined for a configuration without a rate. */
export function readAacConfig(bytes: Uint8Array): AacConfig | undefined {
  const bits = createBitReader(bytes)
  let type = readType(bits)
  const rate = readRate(bits)
  bits.read(4)
  if (EXTENDED.has(type)) {
    readRate(bits)
    type = readType(bits)
  }
  const whole = bits.read(1) === 1 ? SAMPLES_OTHER : SAMPLES
  return rate ? { rate, samples: SHORT.has(type) ? whole / 2 : whole } : undefined
}

function readType(bits: BitReader): number {
  const type = bits.read(5)
  return type === MORE_TYPES ? 32 + bits.read(6) : type
}

function readRate(bits: BitReader): number | undefined {
  const index = bits.read(4)
  return index === OWN_RATE ? bits.read(24) : AAC_RATES[index]
}
