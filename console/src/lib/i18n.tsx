/**
 * Texts in English and Chinese. Each folder has its own catalog beside its pages. A text missing in
 * one language, a placeholder missing in one text, or an unfilled placeholder does not compile.
 */
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import type { Language } from './language.ts'
import { type Catalogue, fillText, type PlaceholderValues } from './texts.ts'
import { loadServerTexts, translateServerText } from './words/server-texts.ts'

const STORED = 'tributary.language'

export { defineMessages, fillText } from './texts.ts'

interface Choice {
  readonly language: Language
  choose(language: Language): void
  /** Sets the signed-in user's language where this browser prefers neither. */
  suggest(language: Language): void
}

const LanguageContext = createContext<Choice>({ language: 'en', choose() {}, suggest() {} })

export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(preferred)
  const [, setReady] = useState(false)
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
    // What is on the page by then is worded again.
    if (language === 'zh') void loadServerTexts().then(() => setReady(true))
  }, [language])
  const choose = (chosen: Language) => {
    localStorage.setItem(STORED, chosen)
    setLanguage(chosen)
  }
  const suggest = (suggested: Language) => {
    if (localStorage.getItem(STORED) === null && !browserLanguage()) setLanguage(suggested)
  }
  return <LanguageContext value={{ language, choose, suggest }}>{children}</LanguageContext>
}

export function useLanguage(): Choice {
  return useContext(LanguageContext)
}

/** `const t = useMessages(messages)`, then `t('title')` or `t('count', { count: 3 })`. */
export function useMessages<Texts extends Readonly<Record<string, string>>>(
  catalogue: Catalogue<Texts>,
) {
  const { language } = useLanguage()
  return function translate<Key extends keyof Texts & string>(
    key: Key,
    ...[values]: PlaceholderValues<Texts[Key]>
  ): string {
    return fillText(catalogue[language][key], values ?? {})
  }
}

/** Returns a function that words a text of the gateway in the reader's language. */
export function useServerText(): (text: string) => string {
  const { language } = useLanguage()
  return (text) => translateServerText(text, language)
}

/** Returns the language chosen in this browser before, else the one that the browser prefers. */
function preferred(): Language {
  const stored = localStorage.getItem(STORED)
  if (stored === 'en' || stored === 'zh') return stored
  return browserLanguage() ?? 'en'
}

/** Returns the first of the browser's languages that the console has. */
function browserLanguage(): Language | undefined {
  for (const one of navigator.languages) {
    const name = one.slice(0, 2).toLowerCase()
    if (name === 'en' || name === 'zh') return name
  }
  return undefined
}
