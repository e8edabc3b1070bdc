/** Catalogs of texts and their placeholders; pages use them through i18n.tsx. */
import type { Language } from './language.ts'

/** `'{count} keys'` → `count`. */
type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never

export type PlaceholderValues<Text extends string> = [Placeholders<Text>] extends [never]
  ? []
  : [values: Readonly<Record<Placeholders<Text>, string | number>>]

/** A name in both languages. */
export type Names = readonly [en: string, zh: string]

export function nameIn(language: Language, [en, zh]: Names): string {
  return language === 'zh' ? zh : en
}

export interface Catalogue<Texts extends Readonly<Record<string, string>>> {
  readonly en: Texts
  readonly zh: Readonly<Record<keyof Texts, string>>
}

type Same<One, Other> = [One, Other] extends [Other, One] ? string : never

/** Chinese texts that name exactly the English texts' placeholders; others are `never`. */
type Matching<Texts, Chinese> = {
  readonly [Key in keyof Texts]: Texts[Key] extends string
    ? Key extends keyof Chinese
      ? Chinese[Key] extends string
        ? Same<Placeholders<Texts[Key]>, Placeholders<Chinese[Key]>>
        : never
      : never
    : never
}

export function defineMessages<
  const Texts extends Readonly<Record<string, string>>,
  const Chinese extends Readonly<Record<keyof Texts, string>>,
>(en: Texts, zh: Chinese & Matching<Texts, Chinese>): Catalogue<Texts> {
  return { en, zh }
}

/** Fills a text whose key is only known at run time; all others go through `useMessages`. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  if (!text.includes('{')) return text
  const filled = text.replace(
    /\{(\w+)\}/g,
    (whole, name: string) => EDGE + withoutReversal(String(values[name] ?? whole)) + EDGE,
  )
  return filled.replace(LOOSE, '').replaceAll(EDGE, '')
}

/** Removes characters with which a name would reverse the words of the sentence around it. */
function withoutReversal(value: string): string {
  return value.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
}

/** Stands at both ends of a value while its text is filled; no text has it. */
const EDGE = '\uE000'

const HAN = '\\p{Script=Han}'

/**
 * A space between a value and the text around it, where both are Chinese: `每 {unit}` is `每 5 秒`,
 * but `每秒`. Spaces within a value are its own.
 */
const LOOSE = new RegExp(
  `(?<=${HAN}${EDGE}?) (?=${EDGE}${HAN})|(?<=${HAN}${EDGE}) (?=${HAN})`,
  'gu',
)
