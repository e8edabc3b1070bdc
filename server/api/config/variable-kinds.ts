/** The types of environment variables, each with the value that it is parsed to. */
import { z } from 'zod'
import { parseAmount } from '../../base/lib/money.ts'
import { readNetwork } from '../../base/lib/networks.ts'
import { SECRET_KEY_LENGTH_MIN } from '../../base/lib/secrets/secrets.ts'
import { trimEnd } from '../../base/lib/text/trim-end.ts'
import { readRules } from '../sign-in/claim-rules.ts'

const SIZE = /^(\d{1,12})(|B|KB|MB|GB)$/i
const FACTORS: Readonly<Record<string, number>> = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }
export const MB = 1024 ** 2
const MINUTES_MS = 60_000
export function wholeNumber(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.number().min(least, error).max(most, error))
}

export const milliseconds = wholeNumber(1, 24 * 60 * MINUTES_MS)

export function bytesUpTo(gigabytes: number) {
  return z
    .string()
    .regex(SIZE, 'must be a number of bytes, for example 10MB')
    .transform((text) => {
      const [, digits = '0', unit = ''] = SIZE.exec(text) ?? []
      return Number(digits) * (FACTORS[unit.toUpperCase()] ?? 1)
    })
    .pipe(
      z
        .number()
        .min(1024, 'must be at least 1KB')
        .max(gigabytes * 1024 ** 3, `must be at most ${gigabytes}GB`),
    )
}

export const bytes = bytesUpTo(1)

/** Sizes on disk, in decimal GB or TB. */
export const storedBytes = z
  .string()
  .regex(/^\d{1,9}(GB|TB)$/i, 'must be a number of GB or TB, for example 20GB')
  .transform((text) => Number.parseInt(text, 10) * (/TB$/i.test(text) ? 1000 : 1) * 1_000_000_000)

export const flag = z
  .string()
  .regex(/^(1|0|true|false|yes|no|on|off)$/i, 'must be true or false')
  .transform((text) => /^(1|true|yes|on)$/i.test(text))

export const url = (protocol: RegExp, example: string) =>
  z.url({ protocol, error: `must be an address such as ${example}` })
export const webUrl = url(/^https?$/, 'https://gateway.example.com').transform((text) =>
  trimEnd(text, '/'),
)

/** An address of the store or of this gateway, to which paths are appended. */
export const webBase = webUrl.refine((text) => !/[?#]|\/\/[^/]*@/.test(text), {
  error: 'must not have a user, a query or a fragment',
})

export const host = z
  .string()
  .regex(/^[A-Za-z0-9._:%-]+$/, 'must be an address or a name of this machine such as 0.0.0.0')

export const secretKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .pipe(
    z.array(
      z.string().min(SECRET_KEY_LENGTH_MIN, {
        error: `must have at least ${SECRET_KEY_LENGTH_MIN} characters`,
      }),
    ),
  )

export function readBy<T extends object>(read: (text: string) => T | { readonly problem: string }) {
  return z.string().transform((text, context) => {
    const value = read(text)
    if (!('problem' in value)) return value
    context.addIssue({ code: 'custom', message: value.problem })
    return z.NEVER
  })
}

/** Rules that give roles by claims, as JSON. */
export const claimRules = z.string().transform((text, context) => {
  const rules = readRules(parseJson(text))
  if (!('problem' in rules)) return rules
  context.addIssue({ code: 'custom', message: rules.problem })
  return z.NEVER
})

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const ports = z
  .string()
  .transform((text) => text.split(',').map((port) => port.trim()))
  .pipe(z.array(wholeNumber(1, 65_535)))

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.parse(text)?.origin === text
}

export const origins = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .refine((list) => list.every((text) => (text === '*' ? list.length === 1 : isOrigin(text))), {
    error: 'must be *, or origins such as https://app.example.com',
  })

const DOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/

/** Domains of e-mail addresses, in lower case. */
export const domains = z
  .string()
  .transform((text) => text.split(',').map((domain) => domain.trim().toLowerCase()))
  .refine((list) => list.every((domain) => domain.length <= 253 && DOMAIN.test(domain)), {
    error: 'must be domains such as acme.com',
  })

export const amountOfMoney = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal such as 12.5')
  .transform((text) => parseAmount(text) ?? 0n)

export const proxyNetworks = z
  .string()
  .transform((text) => text.split(',').map((network) => network.trim()))
  .refine((list) => list.every((text) => readNetwork(text) !== undefined), {
    error: 'must be addresses or networks such as 10.0.0.0/8',
  })
