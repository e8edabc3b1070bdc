/** Any sound that the browser can read as a recording: converted where that is asked for. */
import type { OrderFile } from '../frame/order.ts'
import { encodeWav, SAMPLES_PER_SECOND } from './encode-wav.ts'

const SAMPLE_BYTES = 2

/** As 16 kHz, mono, 16-bit PCM. Throws DOMException for what the browser cannot decode. */
export async function toWav(content: Blob, name: string): Promise<OrderFile> {
  const samples = await resample(await decode(content))
  const seconds = samples.length / SAMPLES_PER_SECOND
  return {
    content: new Blob([encodeWav(samples)], { type: 'audio/wav' }),
    name: `${name.replace(/\.\w+$/, '') || 'recording'}.wav`,
    countedBytes: samples.length * SAMPLE_BYTES,
    seconds: Math.ceil(seconds),
  }
}

/** As it is, with its length measured for the price. */
export async function asItIs(content: Blob, name: string): Promise<OrderFile> {
  const { duration } = await decode(content)
  return { content, name, countedBytes: content.size, seconds: Math.ceil(duration) }
}

async function decode(content: Blob): Promise<AudioBuffer> {
  const context = new OfflineAudioContext(1, 1, SAMPLES_PER_SECOND)
  return context.decodeAudioData(await content.arrayBuffer())
}

/** Decoding has brought it to the context's rate; rendering mixes it down to one channel. */
async function resample(sound: AudioBuffer): Promise<Float32Array> {
  const length = Math.max(1, Math.ceil(sound.duration * SAMPLES_PER_SECOND))
  const context = new OfflineAudioContext(1, length, SAMPLES_PER_SECOND)
  const source = context.createBufferSource()
  source.buffer = sound
  source.connect(context.destination)
  source.start()
  return (await context.startRendering()).getChannelData(0)
}
