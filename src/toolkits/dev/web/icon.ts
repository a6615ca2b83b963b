import type { IconName } from '../../../web/ui/icon.tsx';

const icon: IconName = 'branch';
export default icon;
