/** The gateway's own texts in the reader's language. Their translation is not in the first load. */
import type { Language } from '../language.ts'

let toChinese: ((text: string) => string) | undefined

/** Resolves once texts can be translated; a failed load leaves them in English. */
export async function loadServerTexts(): Promise<void> {
  const loaded = await import('./server-texts-in-chinese.ts').catch(() => undefined)
  toChinese = loaded?.toChinese
}

export function translateServerText(text: string, language: Language): string {
  return language === 'zh' && toChinese ? toChinese(text) : text
}
