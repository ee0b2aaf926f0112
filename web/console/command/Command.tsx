// Runs a command of the desk from a page: its fields with a reason, then the plan, and only when a
// person has read and confirmed it, the act. If the plan changed meanwhile, the new one is shown.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { CommandAnswer } from '../../../src/operator/console/contract/contract.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { classes } from '../../ui/classes.ts'
import { Dialog } from '../../ui/dialog/Dialog.tsx'
import { TextField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { Skeleton } from '../../ui/parts.tsx'
import { call, isRefused } from '../call.ts'
import type { Action, FieldName } from './actions.ts'
import { useLines } from './use-lines.ts'

export type Plan = Extract<CommandAnswer, { state: 'plan' }>
type End = Exclude<CommandAnswer, { state: 'plan' }>
type Values = Record<FieldName, string>

export const NO_VALUES: Values = { amount: '', until: '', reason: '' }

export function CommandDialog(props: {
  readonly action: Action
  /** What the command is about, such as a book or an order. */
  readonly subject: string
  readonly onClose: () => void
  /** The plan, if a form of the page has asked for it already. */
  readonly planned?: Plan
  /** After the act; absent: as when it is closed. */
  readonly onDone?: () => void
}) {
  const { t } = useTranslation()
  const { action, subject, onClose, onDone = onClose } = props
  const client = useQueryClient()
  // One reference per dialog: pressing twice, or a lost answer, does not do it twice.
  const [ref] = useState(() => crypto.randomUUID())
  const [values, setValues] = useState<Values>(NO_VALUES)
  const [plan, setPlan] = useState(props.planned)
  const [end, setEnd] = useState<End>()

  async function run(given: Values, digest?: string): Promise<void> {
    const answer = await call('POST /api/commands', {
      body: {
        ...action.command(subject, given, ref),
        ...(digest !== undefined && { plan: digest }),
      },
    })
    setValues(given)
    if (answer.state === 'plan') setPlan(answer)
    else {
      setEnd(answer)
      void client.invalidateQueries()
    }
  }

  return (
    <Dialog isOpen onClose={onClose} title={t(`console.command.${action.name}.title`)}>
      {end !== undefined ? (
        <Ended end={end} onClose={onDone} />
      ) : plan === undefined ? (
        <Begin action={action} send={run} />
      ) : (
        <Confirm
          plan={plan}
          action={action}
          onBack={hasFields(action) ? () => setPlan(undefined) : onClose}
          onConfirm={() => run(values, plan.digest)}
        />
      )}
    </Dialog>
  )
}

function hasFields({ amount, hasReason }: Action): boolean {
  return amount !== 'none' || hasReason
}

/** Asks for the fields of the command; one without fields is planned at once. */
function Begin(props: {
  readonly action: Action
  readonly send: (values: Values) => Promise<void>
}) {
  return hasFields(props.action) ? <Fields {...props} /> : <PlanNow send={props.send} />
}

function PlanNow({ send }: { readonly send: (values: Values) => Promise<void> }) {
  const [problem, setProblem] = useState<string>()
  const commandError = useCommandError()
  const errorText = useErrorText()
  const isSent = useRef(false)
  useEffect(() => {
    // Once: React runs effects twice in development.
    if (isSent.current) return
    isSent.current = true
    send(NO_VALUES).catch((error: unknown) => setProblem(commandError(error) ?? errorText(error)))
  })
  if (problem === undefined) return <Skeleton lines={3} />
  return (
    <div role="alert">
      <Banner tone="bad">{problem}</Banner>
    </div>
  )
}

function Fields(props: {
  readonly action: Action
  readonly send: (values: Values) => Promise<void>
}) {
  const { t } = useTranslation()
  const { action, send } = props
  const commandError = useCommandError()
  const [problem, setProblem] = useState<string>()
  const form = useForm({
    initial: NO_VALUES,
    check: ({ amount, reason }) => ({
      amount: action.amount === 'needed' && amount.trim() === '' ? t('field.required') : undefined,
      reason: action.hasReason && reason.trim() === '' ? t('field.required') : undefined,
    }),
    async send(values) {
      setProblem(undefined)
      try {
        await send(values)
      } catch (error) {
        const text = commandError(error)
        if (text === undefined) throw error
        setProblem(text)
      }
    },
  })
  return (
    <Form form={form} submit={t('console.command.plan')} isWide>
      {action.amount !== 'none' && (
        <TextField
          {...form.text('amount')}
          label={t(`console.command.${action.unit}`)}
          isOptional={action.amount === 'optional'}
          hint={action.amount === 'optional' ? t('console.command.allHint') : undefined}
          inputMode="decimal"
          autoComplete="off"
          autoFocus
        />
      )}
      {action.hasUntil === true && (
        <TextField
          {...form.text('until')}
          label={t('console.command.until')}
          hint={t('console.command.untilHint')}
          type="date"
          isOptional
        />
      )}
      <TextField
        {...form.text('reason')}
        label={t('console.command.reason')}
        hint={t('console.command.reasonHint')}
        autoComplete="off"
        autoFocus={action.amount === 'none'}
      />
      <div role="alert" className="empty:hidden">
        {problem !== undefined && <Banner tone="bad">{problem}</Banner>}
      </div>
    </Form>
  )
}

function Confirm(props: {
  readonly plan: Plan
  readonly action: Action
  readonly onBack: () => void
  readonly onConfirm: () => Promise<void>
}) {
  const { t } = useTranslation()
  const { plan, action, onBack, onConfirm } = props
  const shown = useLines()
  const [isPending, setPending] = useState(false)
  const [problem, setProblem] = useState<string>()
  const commandError = useCommandError()
  const errorText = useErrorText()

  function confirm(): void {
    setPending(true)
    setProblem(undefined)
    onConfirm()
      .catch((error: unknown) => setProblem(commandError(error) ?? errorText(error)))
      .finally(() => setPending(false))
  }

  return (
    <div className="grid gap-5">
      {plan.isChanged && <Banner tone="warn">{t('console.command.changed')}</Banner>}
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long plan scrolls by the keyboard too.
        tabIndex={0}
        aria-label={t('console.command.planLabel')}
        className="max-h-80 overflow-auto rounded-part bg-sunk p-4"
      >
        <pre
          className={classes(
            'font-mono text-sm',
            // A table that is broken into lines cannot be read; it scrolls.
            plan.lines.some((line) => /\S {2,}\S/.test(line))
              ? 'whitespace-pre'
              : 'whitespace-pre-wrap wrap-anywhere',
          )}
        >
          {plan.lines.map(shown).join('\n')}
        </pre>
      </section>
      <div role="alert" className="empty:hidden">
        {problem !== undefined && <Banner tone="bad">{problem}</Banner>}
      </div>
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onBack}>{t('console.command.back')}</Button>
        <Button tone={action.tone} isPending={isPending} onClick={confirm} autoFocus>
          {t(`console.command.${action.name}.submit`)}
        </Button>
      </div>
    </div>
  )
}

function Ended(props: { readonly end: End; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const { end, onClose } = props
  const shown = useLines()
  return (
    <div className="grid gap-5">
      <div role="status">
        <Banner
          tone={end.state === 'done' ? 'good' : 'note'}
          title={t(`console.command.state.${end.state}`)}
        >
          {end.lines.map((line) => (
            <p key={line}>{shown(line)}</p>
          ))}
        </Banner>
      </div>
      <Button tone="main" isWide onClick={onClose} autoFocus>
        {t('action.done')}
      </Button>
    </div>
  )
}

/** The desk's own sentence about a command that it refused; undefined for any other error. */
export function useCommandError(): (error: unknown) => string | undefined {
  const { t } = useTranslation()
  const shown = useLines()
  return (error) => {
    if (isRefused(error, 'field_invalid')) return t('errors.field_invalid')
    if (!isRefused(error, 'command_refused')) return undefined
    return error.sentence === undefined ? t('errors.command_refused') : shown(error.sentence)
  }
}
