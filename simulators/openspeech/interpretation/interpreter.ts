// A simulated interpreter: sentences from the words hidden in the sound, and one sentence every two
// seconds for sound without words. Deterministic: the translation is the source after the name of
// the target language, so that a test can check that both arrived.
import { joinWords, SampleListener } from '../audio/words.ts'
import { ENDS_SENTENCE } from '../subtitles.ts'

const BYTES_IN_MS = 32
const UNHEARD_MS = 2000

export interface Sentence {
  source: string
  translation: string
  startMs: number
  endMs: number
}

export interface Interpreted {
  sentences: Sentence[]
  /** The duration of the silence, once another second of it has passed. */
  mutedMs: number | undefined
}

export class Interpreter {
  private readonly listener = new SampleListener()
  private readonly language: string
  private words: string[] = []
  private startMs = 0
  private endMs = 0
  private silentMs = 0
  private toldMs = 1000
  private count = 0

  constructor(targetLanguage: string) {
    this.language = targetLanguage === 'zhen' ? 'en' : targetLanguage
  }

  get heardMs(): number {
    return Math.round(this.listener.samples / 16)
  }

  hear(audio: Buffer): Interpreted {
    const sentences: Sentence[] = []
    for (const { word, at } of this.listener.push(audio)) {
      const ms = Math.round(at / 16)
      if (this.words.length === 0) this.startMs = ms
      this.words.push(word)
      this.endMs = ms + 200
      if (ENDS_SENTENCE.test(word)) sentences.push(this.sentence(joinWords(this.words)))
    }
    const mutedMs = this.listenForSilence(audio)
    const unheard = this.heardMs - this.endMs
    if (this.words.length === 0 && this.silentMs === 0 && unheard >= UNHEARD_MS) {
      this.startMs = this.endMs
      this.endMs += UNHEARD_MS
      sentences.push(this.sentence(`Sentence ${this.count + 1}.`))
    } else if (this.silentMs > 0 && this.words.length === 0) this.endMs = this.heardMs
    return { sentences, mutedMs }
  }

  /** Returns the sentence that was unfinished when the audio ended. */
  finish(): Sentence[] {
    if (this.words.length > 0) return [this.sentence(joinWords(this.words))]
    if (this.silentMs > 0 || this.heardMs - this.endMs < UNHEARD_MS / 4) return []
    this.startMs = this.endMs
    this.endMs = this.heardMs
    return [this.sentence(`Sentence ${this.count + 1}.`)]
  }

  private sentence(source: string): Sentence {
    this.count += 1
    this.words = []
    const translation = `${this.language} ${source}`
    return { source, translation, startMs: this.startMs, endMs: this.endMs }
  }

  private listenForSilence(audio: Buffer): number | undefined {
    if (!audio.every((byte) => byte === 0)) {
      this.silentMs = 0
      this.toldMs = 1000
      return undefined
    }
    this.silentMs += audio.length / BYTES_IN_MS
    if (this.silentMs < this.toldMs + 1000) return undefined
    this.toldMs += 1000
    return Math.round(this.silentMs)
  }
}
