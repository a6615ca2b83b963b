import { Dialog } from '../components/dialog.tsx';

const KEYS = [
  ['j', 'Next item'],
  ['k', 'Previous item'],
  ['a', 'Approve the open item, or all selected ones'],
  ['r', 'Reject the open item, or all selected ones, with a reason'],
  ['e', 'Edit, then approve'],
  ['u', 'Undo what was just approved, where that is possible'],
  ['x', 'Select the open item'],
  ['Esc', 'Clear the selection, or close a window'],
  ['?', 'This list'],
] as const;

export const HelpDialog = ({ onClose }: { onClose(): void }) => (
  <Dialog title="Keys of the inbox" onClose={onClose}>
    <dl className="keys">
      {KEYS.map(([key, what]) => (
        <div key={key} className="fact">
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
