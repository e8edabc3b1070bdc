// Abilities of each generation of models, by the number in the id.
import { text } from '../../kernel/checks.ts'

/** `sim-gemini-4` is of the fourth generation; without a number it is of the third. */
export function generationOf(model: string): number {
  const found = /gemini-(\d+(?:\.\d+)?)/.exec(model)
  return found ? Number(found[1]) : 3.5
}

export const isKnownModel = (model: string) => /gemini/.test(model) && !/missing/.test(model)

/** Signatures are bound to the model that gave them. */
export function signatureOf(model: string, words: string): string {
  return Buffer.from(`sig:${model}:${words.slice(0, 24)}`).toString('base64')
}

const STAND_INS = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go']

export function isValidSignature(model: string, signature: unknown): boolean {
  if (STAND_INS.includes(text(signature))) return true
  return Buffer.from(text(signature), 'base64').toString().startsWith(`sig:${model}:`)
}
