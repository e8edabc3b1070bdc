/**
 * Refuses sizes and counts that dall-e models are known to refuse
 * (docs/protocols/openai.md#images). All other models of this dialect have rules of their own,
 * which are left to the vendor.
 */

import type { JsonObject } from '../../../base/lib/json.ts'
import type { ImageRules } from '../../dialects/fields/model-field.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'

interface Rules {
  readonly sizes: readonly string[]
  readonly pictures: number
}

const RULES: Readonly<Record<string, Rules>> = {
  'dall-e-2': { sizes: ['256x256', '512x512', '1024x1024'], pictures: 10 },
  'dall-e-3': { sizes: ['1024x1024', '1792x1024', '1024x1792'], pictures: 1 },
}

/** Throws InvalidRequest with the field at fault. */
export function judgeCompatibleImage({ size, n }: JsonObject, upstreamModel: string): void {
  const rules = Object.hasOwn(RULES, upstreamModel) ? RULES[upstreamModel] : undefined
  if (!rules) return
  if (typeof size === 'string' && !rules.sizes.includes(size)) {
    throw new InvalidRequest('size', `this model offers ${rules.sizes.join(', ')}`)
  }
  if (typeof n === 'number' && n > rules.pictures) {
    const most = rules.pictures === 1 ? 'one image' : `at most ${rules.pictures} images`
    throw new InvalidRequest('n', `this model makes ${most} a call`)
  }
}

/** Returns the rules that are known. */
export function compatibleImageRules(upstreamModel: string): ImageRules {
  const rules = Object.hasOwn(RULES, upstreamModel) ? RULES[upstreamModel] : undefined
  const fields = ['quality', 'style', 'response_format', 'stream', 'user']
  return rules ? { images: rules.pictures, sizes: rules.sizes, fields } : { fields }
}
