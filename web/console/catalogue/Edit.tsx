// Edits prices and packs in a form. The server checks every field, and the difference is shown in
// money before anything is applied.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Catalogue } from '../../../src/operator/console/contract/catalogue.ts'
import { Banner } from '../../ui/Banner.tsx'
import { CheckField, TextField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { Page } from '../../ui/Page.tsx'
import { Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { CommandDialog } from '../command/Command.tsx'
import { paths } from '../paths.ts'
import { catalogueQuery } from '../queries.ts'
import { ModelFields, MoreField, PackFields } from './EditFields.tsx'
import { fieldOf, initialValues, isRoubles, type Values } from './fields.ts'
import { usePlan } from './use-plan.ts'

export function Edit() {
  const { t } = useTranslation()
  const query = useQuery(catalogueQuery)
  return (
    <Page title={t('console.catalogueEdit.title')} lead={t('console.catalogueEdit.lead')}>
      <QueryView query={query} lines={12}>
        {(catalogue) => <EditForm newest={catalogue} />}
      </QueryView>
    </Page>
  )
}

function EditForm({ newest }: { readonly newest: Catalogue }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  // What somebody else applies meanwhile does not change the form; the plan shows it.
  const [catalogue] = useState(newest)
  const [initial] = useState(() => initialValues(newest))
  const { planned, byField, problem, close, send } = usePlan(initial)
  const check = useCheck(catalogue)
  const form = useForm<Values>({ initial, check, send })
  const text = (name: string) => ({
    ...form.text(name),
    error: form.problem(name) ?? byField[name],
    autoComplete: 'off',
  })
  return (
    <>
      <Form form={form} submit={t('console.catalogueEdit.submit')}>
        <ModelFields catalogue={catalogue} text={text} />
        <PackFields catalogue={catalogue} text={text} />
        <Panel>
          <div className="grid gap-5">
            <MoreField {...text('more')} />
            <TextField
              {...text('note')}
              label={t('console.catalogueEdit.note')}
              hint={t('console.catalogueEdit.noteHint')}
            />
            <CheckField {...form.box('below')}>{t('console.catalogueEdit.below')}</CheckField>
          </div>
        </Panel>
        <div role="alert" className="empty:hidden">
          {problem !== undefined && (
            <Banner tone="bad">
              <span className="whitespace-pre-line">{problem}</span>
            </Banner>
          )}
        </div>
      </Form>
      {planned !== undefined && (
        <CommandDialog
          {...{ action: planned.action, planned: planned.plan, subject: '', onClose: close }}
          onDone={() => void navigate({ to: paths.catalogue })}
        />
      )}
    </>
  )
}

/**
 * What the browser can tell by itself: a reason, prices in roubles, and no empty field. An empty
 * price of input would be removed, and then count as one credit.
 */
function useCheck({ packs }: Catalogue): (values: Values) => Record<string, string | undefined> {
  const { t } = useTranslation()
  return (values) => {
    const { more: _, below: __, ...needed } = values
    const empty = Object.keys(needed).filter((name) => String(values[name]).trim() === '')
    const wrong = packs
      .map(({ id }) => fieldOf('packs', id, 'priceKopecks'))
      .filter((name) => !isRoubles(String(values[name])))
    return {
      ...Object.fromEntries(wrong.map((name) => [name, t('console.catalogueEdit.rublesWrong')])),
      ...Object.fromEntries(empty.map((name) => [name, t('field.required')])),
    }
  }
}
