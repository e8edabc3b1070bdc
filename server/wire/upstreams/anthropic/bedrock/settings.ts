/** A channel's settings at Amazon Bedrock. */
import { z } from 'zod'
import { keySettings } from '../../key-header.ts'
import { hostUrl } from '../../shared-settings.ts'
import { cloudSettings } from '../settings.ts'

export const bedrockSettings = z
  .strictObject({
    /** The region whose address is called and for which requests are signed. */
    region: z.string().regex(/^[a-z]{2,8}(?:-[a-z]+)+-\d$/, 'a region of AWS, such as us-east-1'),
    /** A Bedrock API key; or else the credentials of an IAM user or role. */
    ...keySettings,
    access_key_id: z.string().min(1).optional(),
    secret_access_key: z.string().min(1).optional(),
    /** Of temporary credentials. */
    session_token: z.string().min(1).optional(),
    /** Without a path; by default the region's own address. */
    base_url: hostUrl().optional(),
    /** The version of the messages format, as the vendor's own SDK states it. */
    anthropic_version: z
      .string()
      .regex(/^(?:bedrock-)?\d{4}-\d{2}-\d{2}$/)
      .default('2026-10-21'),
    ...cloudSettings,
  })
  .superRefine((settings, context) => {
    const { api_key: key, api_keys: keys, access_key_id: id, secret_access_key: secret } = settings
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    const hasKey = key !== undefined || keys !== undefined
    if (!hasKey && id === undefined && secret === undefined) {
      refuse('api_key', 'missing: an API key, or access_key_id and secret_access_key')
    }
    if (id !== undefined && secret === undefined) refuse('secret_access_key', 'missing')
    if (id === undefined && secret !== undefined) refuse('access_key_id', 'missing')
    if (hasKey && id !== undefined) refuse('access_key_id', 'either an API key or access keys')
  })

export type BedrockSettings = z.infer<typeof bedrockSettings>

export function readBaseUrl({ base_url: url, region }: BedrockSettings): string {
  return url ?? `https://bedrock-runtime.${region}.${domainOf(region)}`
}

/** The list of models has an address of its own; a stand-in serves both. */
export function readControlUrl({ base_url: url, region }: BedrockSettings): string {
  return url ?? `https://bedrock.${region}.${domainOf(region)}`
}

function domainOf(region: string): string {
  return region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
}
