/** Adds a channel: the list of vendors, the form of the chosen one, and the next steps. */
import { Button, Group, Loader, Stack } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { vendorName } from '../../lib/words/vendor-names.ts'
import { ChannelForm, type UpstreamListing } from './channel-form.tsx'
import { VendorForm } from './vendor-form.tsx'
import { messages } from './vendor-messages.ts'
import { VendorPicker } from './vendor-picker.tsx'

interface AddChannelProps {
  readonly upstreams: readonly UpstreamListing[]
  /** `choose`, `other`, or the id of a vendor. */
  readonly step: string
  readonly onStep: (step: string) => void
  /** Opens a channel. */
  readonly onOpen: (id: string) => void
}

export function AddChannel({ upstreams, step, onStep, onOpen }: AddChannelProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const vendors = useAdmin('GET /operator/vendors', {})
  const { demo } = useSession()
  const [added, setAdded] = useState<readonly string[]>([])
  // Once they are known, a form may be in use.
  if (vendors.error && !vendors.data) {
    return <ErrorState error={vendors.error} onRetry={() => void vendors.refetch()} />
  }
  const known = vendors.data?.data ?? []
  const vendor = known.find(({ id }) => id === step)
  if (vendor && added.length > 0) {
    const [first = ''] = added
    return (
      <Stack gap="md">
        <Notice tone="info" title={t('done', { name: vendorName(vendor, language) })}>
          {t('doneText')}
        </Notice>
        <Group gap="xs">
          <Button variant="default" onClick={() => onOpen(first)}>
            {t('seeChannel', { id: first })}
          </Button>
          <ButtonLink to="/operator/models" search={{ book: vendor.id }}>
            {t('addModels')}
          </ButtonLink>
        </Group>
      </Stack>
    )
  }
  if (vendors.isPending && step !== 'other') return <Loader size="sm" />
  if (!vendor && step !== 'other') return <VendorPicker vendors={known} onChoose={onStep} />
  return (
    <Stack gap="sm" align="stretch">
      <Group>
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Icon name="left" size={14} />}
          onClick={() => onStep('choose')}
        >
          {t('back')}
        </Button>
      </Group>
      {demo ? (
        <Notice tone="warning" title={t('endsDemo')}>
          {t('endsDemoText')}
        </Notice>
      ) : null}
      {vendor ? (
        <VendorForm key={vendor.id} vendor={vendor} upstreams={upstreams} onAdded={setAdded} />
      ) : (
        <ChannelForm upstreams={upstreams} onSaved={onOpen} />
      )}
    </Stack>
  )
}
