/** The vendors to choose from, with what they serve. */
import { Badge, Group, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import type { AdminAnswer } from '../../lib/api.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { vendorName } from '../../lib/words/vendor-names.ts'
import { messages } from './vendor-messages.ts'
import classes from './vendor-picker.module.css'

export type VendorListing = AdminAnswer<'GET /operator/vendors'>['data'][number]

interface VendorPickerProps {
  readonly vendors: readonly VendorListing[]
  /** Receives a vendor's id, or `other`. */
  readonly onChoose: (step: string) => void
}

export function VendorPicker({ vendors, onChoose }: VendorPickerProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const wordOf = useModelTypeName()
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const shown = vendors
    .map((one) => ({ ...one, shownName: vendorName(one, language) }))
    .filter(({ id, name, shownName }) =>
      `${id} ${name} ${shownName}`.toLowerCase().includes(wanted),
    )
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
  return (
    <Stack gap="sm">
      <TextInput
        label={t('choose')}
        placeholder={t('search')}
        leftSection={<Icon name="search" size={15} />}
        data-autofocus
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <UnstyledButton className={classes.choice} onClick={() => onChoose('other')}>
        <Text size="sm" fw={500}>
          {t('other')}
        </Text>
        <Text size="xs" c="dimmed">
          {t('otherText')}
        </Text>
      </UnstyledButton>
      <div className={classes.list}>
        {shown.map((vendor) => (
          <UnstyledButton
            key={vendor.id}
            className={classes.choice}
            onClick={() => onChoose(vendor.id)}
          >
            <Group gap={6} justify="space-between" wrap="nowrap">
              <Text size="sm" fw={500}>
                {vendor.shownName}
              </Text>
              {vendor.channels.every(({ exists }) => exists) ? (
                <Badge size="xs" variant="default">
                  {t('added')}
                </Badge>
              ) : null}
            </Group>
            <Text size="xs" c="dimmed">
              {vendor.types.map(wordOf).join(language === 'zh' ? '、' : ', ')} · {vendor.currency}
            </Text>
          </UnstyledButton>
        ))}
        {shown.length === 0 ? <Text size="sm">{t('none')}</Text> : null}
      </div>
    </Stack>
  )
}
