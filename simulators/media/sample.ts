// Sample recordings: `/media/samples/speech.wav?seconds=90`, and `silence.wav`.
import { PCM_UNIT_SECONDS, pcmOf, wavHeader } from '../openspeech/audio/pcm.ts'
import { timelineOf } from '../openspeech/audio/timeline.ts'

const SAMPLE_RATE = 8000
const MOST_SECONDS = 7300
const WORDS = 'good morning everybody, let us begin. the numbers of this week are better.'

/** Returns undefined for an unknown name. */
export function sampleRecording(name: string, query: string): Buffer | undefined {
  if (name !== 'speech.wav' && name !== 'silence.wav') return undefined
  const stated = Number(new URLSearchParams(query).get('seconds') ?? 10)
  const seconds = Math.min(MOST_SECONDS, Math.max(0, Number.isFinite(stated) ? stated : 10))
  const samples = Buffer.alloc(Math.round(seconds * SAMPLE_RATE) * 2)
  if (name === 'speech.wav') {
    const pace = { unitSeconds: PCM_UNIT_SECONDS, speed: 1, silenceMs: 500 }
    const timeline = timelineOf(WORDS, pace)
    const once = pcmOf(timeline, 0, timeline.units, SAMPLE_RATE)
    if (samples.length > 0) samples.fill(once)
  }
  return Buffer.concat([wavHeader(samples.length, SAMPLE_RATE), samples])
}
