/** Adds models from a vendor's price book, after a review of what would change. */
import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Refusal } from '../../components/form/refusal.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { ButtonLink } from '../../components/links.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import type { AdminAnswer } from '../../lib/api.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { vendorName } from '../../lib/words/vendor-names.ts'
import { ReviewGroup } from './price-book-group.tsx'
import { messages } from './price-book-messages.ts'

interface PriceBookProps {
  /** Id of a vendor; `choose` before one is chosen. */
  readonly book: string
  readonly onChoose: (book: string) => void
}

export function PriceBook({ book, onChoose }: PriceBookProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const vendors = useAdmin('GET /operator/vendors', {})
  const known = vendors.data?.data ?? []
  const hasChannel = (one: (typeof known)[number]) => one.channels.some(({ exists }) => exists)
  const sorted = [...known.filter(hasChannel), ...known.filter((one) => !hasChannel(one))]
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {t('text')}
      </Text>
      {vendors.error ? (
        <ErrorState error={vendors.error} onRetry={() => void vendors.refetch()} />
      ) : null}
      <Select
        label={t('vendor')}
        placeholder={t('vendorPlaceholder')}
        searchable
        allowDeselect={false}
        data={sorted.map(({ id, name, currency }) => ({
          value: id,
          label: `${vendorName({ id, name }, language)} · ${currency}`,
        }))}
        value={known.some(({ id }) => id === book) ? book : null}
        onChange={(chosen) => onChoose(chosen ?? book)}
      />
      {known.some(({ id }) => id === book) ? <Book key={book} id={book} /> : null}
    </Stack>
  )
}

function Book({ id }: { readonly id: string }) {
  const vendor = useAdmin('GET /operator/vendors/:vendor_id', { params: { vendor_id: id } })
  if (vendor.error && !vendor.data) {
    return <ErrorState error={vendor.error} onRetry={() => void vendor.refetch()} />
  }
  return vendor.data ? <Review vendor={vendor.data} /> : null
}

type ReviewedVendor = AdminAnswer<'GET /operator/vendors/:vendor_id'>

function Review({ vendor }: { readonly vendor: ReviewedVendor }) {
  const t = useMessages(messages)
  const { review, dropped, currency, id } = vendor
  const isReady = (one: (typeof review)[number]) => one.missing_channels.length === 0
  const missing = new Set(review.flatMap((one) => one.missing_channels))
  const [chosen, setChosen] = useState<readonly string[]>([])
  const change = useAdminChange('POST /operator/vendors/:vendor_id')
  const { isBusy, failure, submit } = useSubmit(async (models: readonly string[]) => {
    await change.mutateAsync({ params: { vendor_id: id }, body: { models: [...models] } })
    notifyDone(t('applied', { count: models.length }))
    // Others may have been chosen meanwhile.
    setChosen((now) => now.filter((one) => !models.includes(one)))
  })
  const groups = (['new', 'changed', 'unchanged'] as const).map((kind) => ({
    kind,
    models: review.filter((one) => one.change === kind),
  }))
  const label = chosen.length === 1 ? t('applyOne') : t('apply', { count: chosen.length })
  return (
    <>
      <Text size="sm">{t('currencyNote', { currency })}</Text>
      {dropped.length > 0 ? (
        <Notice tone="warning" title={t('dropped', { models: dropped.join(', ') })} />
      ) : null}
      {missing.size > 0 ? (
        <Notice
          tone="info"
          title={t('noChannel', { channels: [...missing].join(', ') })}
          action={
            <ButtonLink
              to="/operator/channels"
              search={{ add: id }}
              size="compact-sm"
              variant="default"
            >
              {t('addChannel')}
            </ButtonLink>
          }
        />
      ) : null}
      {groups.map(({ kind, models }) =>
        models.length === 0 ? null : (
          <ReviewGroup
            key={kind}
            kind={kind}
            models={models}
            chosen={chosen}
            isReady={isReady}
            onChoose={setChosen}
          />
        ),
      )}
      <Refusal failure={failure} />
      <Group justify="flex-end">
        <Button disabled={chosen.length === 0} loading={isBusy} onClick={() => submit(chosen)}>
          {chosen.length === 0 ? t('choose') : label}
        </Button>
      </Group>
    </>
  )
}
