/** A channel's settings for Claude on Google's Vertex AI. */
import { z } from 'zod'
import {
  placeSettings,
  readPlaceUrl,
  refuseTokenUri,
  serviceAccount,
} from '../../google-service.ts'
import { hostUrl } from '../../shared-settings.ts'
import { cloudSettings } from '../settings.ts'

export const vertexSettings = z
  .strictObject({
    /** The key file of a service account, as JSON or as its text. */
    service_account: serviceAccount,
    ...placeSettings,
    /** Without the version path; by default the location's own address. */
    base_url: hostUrl().optional(),
    /** The version of the messages format, as the vendor's own SDK states it. */
    anthropic_version: z
      .string()
      .regex(/^(?:vertex-)?\d{4}-\d{2}-\d{2}$/)
      .default('2026-10-21'),
    ...cloudSettings,
  })
  .superRefine((settings, context) => {
    const { project, service_account: account } = settings
    const refuse = (path: string, message: string | undefined) =>
      message && context.addIssue({ code: 'custom', path: [path], message })
    if (project === undefined && account.project_id === undefined) {
      refuse('project', 'missing: the key file names no project_id')
    }
    refuse('service_account', refuseTokenUri(account, readPlaceUrl(settings)))
  })

export type VertexSettings = z.infer<typeof vertexSettings>
