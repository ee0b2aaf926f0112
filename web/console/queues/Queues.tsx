// What waits for a person: requests for approval, payments under review, open disputes, orders that
// hang, failed receipts, charges that the database refused, e-mails that the relay refused,
// registrations without confirmation, and signals. Each has the action that ends it.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Page } from '../../ui/Page.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { type ActionName, actions } from '../command/actions.ts'
import { CommandDialog } from '../command/Command.tsx'
import { queuesQuery } from '../queries.ts'
import { useMay } from '../use-me.ts'
import type { OpenAction } from './ActionButton.tsx'
import { Approvals } from './Approvals.tsx'
import { Letters, Quarantine } from './failures.tsx'
import { Disputes, Receipts, Reviews, StuckOrders } from './payments.tsx'
import { Registrations } from './Registrations.tsx'
import { Signals } from './Signals.tsx'

export function Queues() {
  const { t } = useTranslation()
  const may = useMay()
  const [open, setOpen] = useState<{ readonly name: ActionName; readonly subject: string }>()
  const act: OpenAction = (name, subject) => setOpen({ name, subject })
  return (
    <Page title={t('console.queues.title')} lead={t('console.queues.lead')}>
      <div className="grid gap-6">
        {may('approvals.read') && <Approvals act={act} />}
        <QueryView query={useQuery(queuesQuery)} lines={8}>
          {({ reviews, disputes, stuckOrders, receipts, quarantine, letters, ...others }) => (
            <>
              <Disputes disputes={disputes} act={act} />
              <Reviews reviews={reviews} act={act} />
              <StuckOrders stuckOrders={stuckOrders} act={act} />
              <Receipts receipts={receipts} act={act} />
              <Quarantine quarantine={quarantine} act={act} />
              <Letters letters={letters} act={act} />
              <Registrations registrations={others.registrations} act={act} />
              <Signals signals={others.signals} />
            </>
          )}
        </QueryView>
      </div>
      {open !== undefined && (
        <CommandDialog
          action={actions[open.name]}
          subject={open.subject}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Page>
  )
}
