/** Catalogs of texts and their placeholders; pages use them through i18n.tsx. */

/** `'{count} keys'` → `count`. */
type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never

export type PlaceholderValues<Text extends string> = [Placeholders<Text>] extends [never]
  ? []
  : [values: Readonly<Record<Placeholders<Text>, string | number>>]

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
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}
