/** The variables of signing in with a provider, and of signing up. */
import { z } from 'zod'
import { CURRENCY_PROBLEM, isCurrency } from '../../base/lib/currencies.ts'
import { amountOfMoney, claimRules, domains, flag, webUrl, wholeNumber } from './variable-kinds.ts'

/** The warning if SIGN_UP is on but nothing can confirm addresses. */
export const NO_WAY_TO_SIGN_UP =
  'SIGN_UP is on, but nobody can sign up without mail (SMTP_URL, MAIL_FROM) or a sign-in ' +
  'provider (OIDC_ISSUER, or one of the console)'

export const SIGN_IN_VARIABLES = {
  OIDC_ISSUER: z
    .string()
    .max(2048)
    .refine((text) => URL.canParse(text), 'must be an address such as https://login.example.com')
    .optional()
    .describe(
      'OpenID Connect provider that people sign in with, as its discovery document spells it. ' +
        'Further providers are added in the console.',
    ),
  OIDC_CLIENT_ID: z
    .string()
    .max(500)
    .optional()
    .describe('The gateway’s client id at OIDC_ISSUER.'),
  OIDC_CLIENT_SECRET: z
    .string()
    .max(2000)
    .optional()
    .describe('Secret of that client; without it PKCE alone protects the exchange.'),
  OIDC_RULES: claimRules
    .default([])
    .describe(
      'Roles by claims, a JSON list: [{"when":{"groups":"ai-admins"},"operator":true}, ' +
        '{"when":{"hd":"acme.com"},"account":"acct_…","role":"developer"}].',
    ),
  OIDC_TRUST_EMAIL: flag
    .default(false)
    .describe(
      'Whether e-mail addresses from OIDC_ISSUER count as verified if it does not say so; only ' +
        'for a provider whose users cannot choose their addresses.',
    ),
  SIGN_UP: z
    .enum(['off', 'on'], 'must be off or on')
    .default('off')
    .describe(
      'Whether anybody who confirms an address, by mail or at a sign-in provider, may open an ' +
        'account at /console/sign-up.',
    ),
  SIGN_UP_DOMAINS: domains
    .default([])
    .describe('Domains whose addresses may sign up, comma-separated; empty: all.'),
  SIGN_UP_TERMS: webUrl.optional().describe('URL of the terms that people must accept to sign up.'),
  SIGN_UP_GRANT: amountOfMoney
    .default(0n)
    .describe('Credit that each confirmed mailbox gets once, when it signs up; a decimal.'),
  SIGN_UP_CURRENCY: z
    .string()
    .refine(isCurrency, CURRENCY_PROBLEM)
    .default('CNY')
    .describe('Currency of the accounts that sign-ups open.'),
  SIGN_UP_GRANTS_PER_NETWORK: wholeNumber(0, 1_000_000)
    .default(3)
    .describe('Most SIGN_UP_GRANTs to one network address (an IPv6 /64) within 24 hours.'),
  SIGN_UP_GRANTS_PER_DAY: wholeNumber(0, 1_000_000)
    .default(100)
    .describe('Most SIGN_UP_GRANTs within 24 hours.'),
} as const
