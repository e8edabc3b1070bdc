/** The schema of the issuers of a catalog file, whose tokens are accepted in place of keys. */
import { z } from 'zod'
import { eachLimit } from '../../../base/lib/kinds-and-states.ts'
import { isIssuerUrl } from '../../../base/lib/token-issuer.ts'
import { entrySource, modelId, name } from '../price/price-schema.ts'

/** Only asymmetric algorithms: whoever can verify a token must not be able to create one. */
const algorithm = z.enum([
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA'] as const),
])

const address = z.string().max(2048).refine(isIssuerUrl, {
  error: 'must be an https URL, for example "https://acme.okta.com"; http on loopback only',
})

const claim = z.strictObject({
  claim: z
    .string()
    .min(1)
    .max(200)
    .describe('Its name, or a path such as `realm_access.roles` where no claim has that name.'),
})

const accountId = z
  .string()
  .regex(/^acct_[A-Za-z0-9]{1,100}$/, 'must be an id such as "acct_a1b2", or {"claim": "org"}')

const count = z.int().min(1)

export const tokenIssuer = z.strictObject({
  id: name(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"'),
  issuer: address.describe('The `iss` of its tokens, to the letter.'),
  audience: z.string().min(1).max(500).describe('The `aud` of its tokens, or one of them.'),
  jwks_uri: address.optional().describe('Absent: from its OpenID Connect discovery.'),
  algorithms: z.array(algorithm).min(1).default(['RS256', 'ES256']),
  account: z.union([
    accountId,
    claim.extend({
      accounts: z
        .record(z.string().min(1).max(500), accountId)
        .optional()
        .describe('The accounts of its values; absent: the value is the id of an account.'),
    }),
  ]),
  member: claim.optional().describe('The address of a member of the account.'),
  tags: claim.optional(),
  end_user: claim.optional(),
  models: z.array(modelId).min(1).max(1000).nullable().default(null),
  limits: z.strictObject(eachLimit(count.exactOptional())).default({}).describe('Of each subject.'),
  /** Overrides the file's own, in an export. */
  source: entrySource.optional(),
})
