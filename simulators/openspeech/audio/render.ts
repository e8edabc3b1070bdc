// Renders a text as the fragments of audio in the vendor's lines.

import { mp3UnitSeconds, mp3Writer } from './mp3.ts'
import { OggOpusWriter, OPUS_UNIT_SECONDS } from './ogg-opus.ts'
import { PCM_UNIT_SECONDS, pcmOf, wavHeader } from './pcm.ts'
import { type Timeline, timelineOf, unitsOf } from './timeline.ts'

export interface Voice {
  format: 'mp3' | 'pcm' | 'wav' | 'ogg_opus'
  sampleRate: number
  bitRate: number
  speed: number
  silenceMs: number
}

export interface Fragment {
  audio: Buffer
  /** The end of the fragment, in units of the timeline. */
  end: number
}

export interface Rendering {
  timeline: Timeline
  fragments: Fragment[]
}

const UNIT_SECONDS = {
  pcm: () => PCM_UNIT_SECONDS,
  wav: () => PCM_UNIT_SECONDS,
  ogg_opus: () => OPUS_UNIT_SECONDS,
  mp3: mp3UnitSeconds,
}

export function render(text: string, voice: Voice, fragmentCount: number | undefined): Rendering {
  const unitSeconds = UNIT_SECONDS[voice.format](voice.sampleRate)
  const { speed, silenceMs } = voice
  const timeline = timelineOf(text, { unitSeconds, speed, silenceMs })
  const count = fragmentCount ?? Math.min(6, Math.max(3, Math.ceil(timeline.syllables.length / 4)))
  const encode = encoder(timeline, voice)
  const fragments: Fragment[] = []
  let from = 0
  for (let index = 1; index <= count; index += 1) {
    const end = Math.floor((index * timeline.units) / count)
    if (end > from) fragments.push({ audio: encode(from, end), end })
    from = end
  }
  return { timeline, fragments }
}

function encoder(timeline: Timeline, voice: Voice): (from: number, to: number) => Buffer {
  const { format, sampleRate } = voice
  if (format === 'pcm') return (from, to) => pcmOf(timeline, from, to, sampleRate)
  if (format === 'wav') {
    return (from, to) => {
      const samples = pcmOf(timeline, from, to, sampleRate)
      return Buffer.concat([wavHeader(samples.length, sampleRate), samples])
    }
  }
  const sounding = unitsOf(timeline)
  if (format === 'mp3') {
    const writer = mp3Writer(sampleRate, voice.bitRate)
    return (from, to) => writer.frames(sounding.slice(from, to), from)
  }
  const writer = new OggOpusWriter()
  return (from, to) => {
    const head = from === 0 ? writer.headers() : Buffer.alloc(0)
    return Buffer.concat([
      head,
      writer.pages(sounding.slice(from, to), from, to === timeline.units),
    ])
  }
}
