/** Reads the generation of a model from its id. */
import type { Generation } from '../../dialects/contents/generation.ts'

const NUMBERED = /gemini-(\d{1,2}(?:\.\d{1,2})?)/
/** Ids without a number, such as `gemini-flash-latest`. */
const RECENT = 3.5
const FIRST_THINKING = 2.5
/** Models of one medium, and open ones. */
const OTHERS = /image|tts|audio|live|embedding|gemma|robotics|computer-use/

export function readGeneration(model: string): Generation {
  const number = Number(NUMBERED.exec(model)?.[1] ?? RECENT)
  return {
    number,
    thinks: number >= FIRST_THINKING && !OTHERS.test(model),
    isPro: model.includes('-pro'),
  }
}
