/** The settings of a channel as fields of a form, and back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  listSettingFields,
  readValues,
  toSettings,
} from '../../../console/src/features/operator-channels/setting-fields.ts'
import { describeRequest } from '../../../server/api/endpoints/reference/json-schema.ts'
import { mediaSettings } from '../../../server/wire/upstreams/media-tasks/settings.ts'

test('a switch that is not set stays so: on, off and open are three states', () => {
  const fields = listSettingFields({ ...describeRequest(mediaSettings) }, ['api_key'])
  const kindOf = (name: string) => fields.find((field) => field.name === name)?.kind
  assert.deepEqual([kindOf('stated_usage'), kindOf('callbacks')], ['option', 'switch'])
  const saved = (stored: object) => {
    const read = toSettings(fields, readValues(fields, { preset: 'fal', ...stored }))
    return 'settings' in read ? read.settings.stated_usage : read
  }
  assert.deepEqual([{}, { stated_usage: true }, { stated_usage: false }].map(saved), [
    undefined,
    true,
    false,
  ])
})
