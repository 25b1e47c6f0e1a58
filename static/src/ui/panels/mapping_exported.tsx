/** The layer mapping in an exported page: what is in force can be read and saved; changing it takes a server. */
import { fileName } from '../../core/file_name';
import { formatCount } from '../../core/format';
import type { Graph } from '../../core/types';
import { t } from '../../i18n';
import { panel, query } from '../../state/app';
import { nameInForce, shownRules, textInForce } from '../../state/mapping';
import { download } from '../download';

function RuleTable() {
  const all = shownRules.value.rules;
  return (
    <>
      <p class="dim">{t('mapping.ruleCount', { count: all.length, unused: all.filter((rule) => rule.hits === 0).length })}</p>
      <ul class="rules">
        {all.map((rule) => (
          <li key={`${rule.line}|${rule.source}`} class={rule.hits === 0 ? 'rule unused' : 'rule'}>
            <span class="rule-words" title={`${rule.scope}: ${rule.source} → ${rule.target}`}>
              <span class="dim">{rule.scope}</span> <code>{rule.source}</code> <span class="dim">→</span> <code>{rule.target}</code>
            </span>
            <span class="number" title={t('mapping.hits', { count: rule.hits })}>
              {rule.hits === 0 ? t('mapping.unused') : formatCount(rule.hits)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

export function ExportedMapping({ open }: { readonly open: Graph }) {
  const text = textInForce.value;
  const name = nameInForce.value;
  const showUnmatched = (): void => {
    query.value = 'is:unmatched';
    panel.value = 'search';
  };
  return (
    <div class="side-panel scrolls" tabIndex={0} role="region" aria-label={t('mapping.title')}>
      <h2>{t('mapping.title')}</h2>
      <p class="dim">{t('mapping.exported')}</p>
      <section class="block">
        <p>
          {name ? (
            <>
              {t('mapping.inForce')} <b>{name}</b>
            </>
          ) : (
            t('mapping.none')
          )}
        </p>
        <div class="buttons">
          {text ? (
            <button class="action" onClick={() => download(fileName((name || 'mapping').replace(/\.ya?ml$/i, ''), '.yaml'), text, 'application/yaml')}>
              {t('mapping.save')}
            </button>
          ) : null}
          <button class="action" disabled={!open.golden} onClick={showUnmatched}>
            {t('mapping.tab.left')}
          </button>
        </div>
      </section>
      {text ? (
        <section class="block">
          <RuleTable />
          <details>
            <summary>{t('mapping.text')}</summary>
            <pre class="code scrolls" tabIndex={0}>
              {text}
            </pre>
          </details>
        </section>
      ) : null}
    </div>
  );
}
