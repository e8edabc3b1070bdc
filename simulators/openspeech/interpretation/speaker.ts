// Renders translations as one continuous sound: the Ogg pages are numbered over all sentences, so
// that clients can join them to one file.
import { OggOpusWriter } from '../audio/ogg-opus.ts'
import { pcmOf } from '../audio/pcm.ts'
import { timelineOf, unitsOf } from '../audio/timeline.ts'

export interface Speaking {
  format: string
  rate: number
  speechRate: number
}

/** Opus and PCM are switched on and off every 20 ms here. */
const UNIT_SECONDS = 0.02
const UNITS_IN_PIECE = 25

export class Speaker {
  private readonly speaking: Speaking
  private readonly ogg = new OggOpusWriter()
  private units = 0

  constructor(speaking: Speaking) {
    this.speaking = speaking
  }

  /** The duration of speech so far. */
  get spokenMs(): number {
    return Math.round(this.units * UNIT_SECONDS * 1000)
  }

  /** Returns the sound of one sentence in pieces of half a second. */
  speak(text: string): Buffer[] {
    const speed = 1 + this.speaking.speechRate / 100
    const timeline = timelineOf(text, { unitSeconds: UNIT_SECONDS, speed, silenceMs: 0 })
    const sounding = unitsOf(timeline)
    const first = this.units === 0
    const pieces: Buffer[] = []
    for (let from = 0; from < timeline.units; from += UNITS_IN_PIECE) {
      const to = Math.min(timeline.units, from + UNITS_IN_PIECE)
      if (this.isOgg) pieces.push(this.ogg.pages(sounding.slice(from, to), from, false))
      else pieces.push(this.samples(pcmOf(timeline, from, to, this.rate)))
    }
    this.units += timeline.units
    const [opening, ...rest] = pieces
    if (!this.isOgg || !first || !opening) return pieces
    return [Buffer.concat([this.headers, opening]), ...rest]
  }

  /** Returns the final bytes of the audio; undefined for samples, and without audio. */
  end(): Buffer | undefined {
    return this.isOgg && this.units > 0 ? this.ogg.pages([undefined], 0, true) : undefined
  }

  private readonly headers = this.ogg.headers()

  private get isOgg(): boolean {
    return this.speaking.format === 'ogg_opus'
  }

  private get rate(): number {
    return this.speaking.rate || 24000
  }

  /** 24 kHz means 32-bit floats at this service. */
  private samples(whole: Buffer): Buffer {
    if (this.rate !== 24000) return whole
    const floats = Buffer.alloc(whole.length * 2)
    for (let at = 0; at < whole.length; at += 2) {
      floats.writeFloatLE(whole.readInt16LE(at) / 32768, at * 2)
    }
    return floats
  }
}
