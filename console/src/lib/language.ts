/** The languages of the console, by their native names. */

export const LANGUAGES = { en: 'English', zh: '中文' } as const

export type Language = keyof typeof LANGUAGES
