/** Binds inputs to the members of a form's values, by name. */
import { useLanguage } from '../../../../lib/i18n.tsx'
import type { Catalogue } from '../../../../lib/texts.ts'
import type { FieldsProps } from '../capability.ts'

type Texts = Readonly<Record<string, string>>

/** The members whose values have this very type. */
type Named<Values, Type> = {
  [Name in keyof Values]: [Type, Values[Name]] extends [Values[Name], Type] ? Name : never
}[keyof Values] &
  string

/** The word of the label: by default the member's own name. */
type Word<Name, Words> = Name extends keyof Words ? [word?: keyof Words] : [word: keyof Words]

interface TextEvent {
  readonly currentTarget: { readonly value: string }
}

/** `<NumberInput {...bind.value('seed')} min={0} />`, labelled by the word `seed`. */
export function useBinding<Values extends object, Words extends Texts>(
  messages: Catalogue<Words>,
  { values, change }: Pick<FieldsProps<Values>, 'values' | 'change'>,
) {
  const { language } = useLanguage()
  const label = (name: string, word: keyof Words = name) => messages[language][word] ?? ''
  const set = (name: keyof Values, value: unknown) =>
    change({ [name]: value } as unknown as Partial<Values>)
  return {
    text: <Name extends Named<Values, string>>(name: Name, ...[word]: Word<Name, Words>) => ({
      label: label(name, word),
      value: values[name] as string,
      onChange: ({ currentTarget }: TextEvent) => set(name, currentTarget.value),
    }),
    value: <Name extends Named<Values, string> | Named<Values, number | string>>(
      name: Name,
      ...[word]: Word<Name, Words>
    ) => ({
      label: label(name, word),
      value: values[name],
      onChange: (value: Values[Name]) => set(name, value),
    }),
    /** Cleared, it is ''. */
    choice: <Name extends Named<Values, string>>(name: Name, ...[word]: Word<Name, Words>) => ({
      label: label(name, word),
      value: values[name] as string,
      onChange: (chosen: string | null) => set(name, chosen ?? ''),
      allowDeselect: false,
    }),
    toggle: <Name extends Named<Values, boolean>>(name: Name, ...[word]: Word<Name, Words>) => ({
      label: label(name, word),
      checked: values[name] as boolean,
      onChange: ({ currentTarget }: { readonly currentTarget: { readonly checked: boolean } }) =>
        set(name, currentTarget.checked),
    }),
  }
}
