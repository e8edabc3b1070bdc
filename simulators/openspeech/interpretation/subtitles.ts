// Sends the subtitles of one sentence, both languages interleaved.
import type { Sentence } from './interpreter.ts'
import type { ServerMessage } from './messages.ts'

export type Part = Omit<ServerMessage, 'sessionId' | 'sequence' | 'code'>

/** Text is sent in two pieces and whole at its end: only the end is reliable. */
export function subtitlesOf({ source, translation, startMs, endMs }: Sentence): Part[] {
  const [sourceStart, sourceRest] = halves(source)
  const [translationStart, translationRest] = halves(translation)
  return [
    { event: 'SourceSubtitleStart', startMs },
    { event: 'SourceSubtitleResponse', text: sourceStart },
    { event: 'TranslationSubtitleStart', startMs },
    { event: 'SourceSubtitleResponse', text: sourceRest },
    { event: 'TranslationSubtitleResponse', text: translationStart },
    { event: 'SourceSubtitleEnd', text: source, startMs, endMs },
    { event: 'TranslationSubtitleResponse', text: translationRest },
    { event: 'TranslationSubtitleEnd', text: translation, startMs, endMs },
  ]
}

function halves(text: string): [string, string] {
  const characters = [...text]
  const middle = Math.ceil(characters.length / 2)
  return [characters.slice(0, middle).join(''), characters.slice(middle).join('')]
}
