/** Reference images, videos and audio: URLs or uploaded files. */
import { ActionIcon, Button, Group, Input, Select, Stack, TextInput } from '@mantine/core'
import { Icon } from '../../../components/icon.tsx'
import { useMessages } from '../../../lib/i18n.tsx'
import { UploadField } from '../frame/upload/upload.tsx'
import { messages } from './messages.ts'
import classes from './references.module.css'
import { type Reference, type ReferenceRole, ROLES } from './values.ts'

interface ReferencesProps {
  readonly references: readonly Reference[]
  readonly onChange: (references: readonly Reference[]) => void
}

export function References({ references, onChange }: ReferencesProps) {
  const t = useMessages(messages)
  const nextId = Math.max(0, ...references.map(({ id }) => id)) + 1
  const role: ReferenceRole = references.length === 0 ? 'first_frame' : 'reference_image'
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Input.Label labelElement="div">{t('media')}</Input.Label>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => onChange([...references, { id: nextId, role, url: '' }])}
        >
          {t('addMedia')}
        </Button>
      </Group>
      {references.map((one) => (
        <Row
          key={one.id}
          reference={one}
          onChange={(changes) =>
            onChange(
              references.map((other) => (other.id === one.id ? { ...other, ...changes } : other)),
            )
          }
          onRemove={() => onChange(references.filter(({ id }) => id !== one.id))}
        />
      ))}
    </Stack>
  )
}

interface RowProps {
  readonly reference: Reference
  readonly onChange: (changes: Partial<Reference>) => void
  readonly onRemove: () => void
}

const ACCEPTS: Readonly<Record<ReferenceRole, string>> = {
  first_frame: 'image/*',
  last_frame: 'image/*',
  reference_image: 'image/*',
  reference_video: 'video/*',
  reference_audio: 'audio/*',
}

function Row({ reference: { role, url }, onChange, onRemove }: RowProps) {
  const t = useMessages(messages)
  return (
    <div className={classes.row}>
      <Group gap="xs" wrap="nowrap">
        <Select
          aria-label={t('role')}
          size="xs"
          flex={1}
          data={ROLES.map((value) => ({ value, label: t(value) }))}
          value={role}
          onChange={(chosen) => onChange({ role: ROLES.find((one) => one === chosen) ?? role })}
          allowDeselect={false}
        />
        <ActionIcon variant="default" aria-label={t('removeMedia')} onClick={onRemove}>
          <Icon name="trash" size={16} />
        </ActionIcon>
      </Group>
      <TextInput
        aria-label={t('url')}
        placeholder={t('urlHint')}
        size="xs"
        value={url}
        onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
      />
      <UploadField
        label={t('upload')}
        accept={ACCEPTS[role]}
        onDone={(file) => onChange({ url: file.url })}
      />
    </div>
  )
}
